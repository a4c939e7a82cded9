/* Messages between two processes of MPI, and how fast they come.
 *
 *     mpirun -np 2 messages SIZE     SIZE bytes a message, there and back
 *
 * Each message is written anew before it is sent, and summed when it came, as programs do.
 *
 * Under libc's copies and the routine's, with Debian's openmpi-bin and libopenmpi-dev (root adds --allow-run-as-root):
 *
 *     mpicc -O2 scripts/experiments/mpi/messages.c -o messages
 *     build/asterope-prove --metric '([0-9.]+) us a message' -- mpirun -np 2 --mca pml ob1 --mca btl self,vader \
 *         --mca btl_vader_single_copy_mechanism none ./messages 1048576 */
#include <mpi.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **words)
{
    enum { BYTES = 1 << 30 };
    int rank, ranks;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const size_t size = count == 2 ? strtoul(words[1], NULL, 10) & ~(size_t)7 : 0;
    if (ranks != 2 || size == 0 || size > BYTES) {
        if (rank == 0) fprintf(stderr, "usage: mpirun -np 2 messages SIZE\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    uint64_t *sent = malloc(size), *came = malloc(size);
    if (!sent || !came) MPI_Abort(MPI_COMM_WORLD, 1);
    const size_t words_each = size / sizeof *sent, rounds = BYTES / size;
    double began = 0;
    for (uint64_t round = 0; round < 2 * rounds; ++round) {
        if (round == rounds) began = MPI_Wtime(); /* the first half only warms up */
        for (size_t i = 0; i < words_each; ++i) sent[i] = round;
        if (rank == 0) {
            MPI_Send(sent, (int)size, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(came, (int)size, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(came, (int)size, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(sent, (int)size, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        }
        uint64_t sum = 0;
        for (size_t i = 0; i < words_each; ++i) sum += came[i];
        if (sum != round * words_each) MPI_Abort(MPI_COMM_WORLD, 3);
    }
    if (rank == 0)
        printf("%.2f us a message\n", 1e6 * (MPI_Wtime() - began) / (2.0 * (double)rounds));
    MPI_Finalize();
    return 0;
}
