from headcount.cli.main import main

main()
