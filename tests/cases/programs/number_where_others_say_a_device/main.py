from worker import work

if __name__ == "__main__":
    work("cpu", 0)
