module example.com/crop

go 1.18
