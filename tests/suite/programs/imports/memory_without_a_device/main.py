from fewshot.run import run

run()
