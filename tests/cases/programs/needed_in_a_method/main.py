from trainer import Trainer


def main():
    trainer = Trainer(3)
    trainer.fit()


if __name__ == "__main__":
    main()
