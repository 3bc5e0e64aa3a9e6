from lab.experiment import main

if __name__ == "__main__":
    main()
