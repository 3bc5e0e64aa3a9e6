"""The programs are data: what is called a test in them is none of ours."""

collect_ignore_glob = ["programs/*"]
