module example.com/gather

go 1.18
