# R: a vector of 16 MiB, of which a copy is changed.
count <- as.integer(commandArgs(trailingOnly = TRUE)[1])
vector <- as.double(seq_len(2097152))
for (turn in seq_len(count)) {
  changed <- vector
  changed[1] <- turn * 0
}
cat(sprintf("result %.0f %d\n", sum(changed), 16777216L))
