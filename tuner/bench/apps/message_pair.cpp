// The subscriber runs in a child process and answers through a pipe; messages go through the ring.
#include "bench/apps/message_pair.hpp"

#include <cstring>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/statistics.hpp"
#include "bench/apps/sequence.hpp"
#include "bench/apps/user_buffer.hpp"
#include "machine/affinity.hpp"
#include "timing/buffer_access.hpp"
#include "timing/clock.hpp"

namespace asterope {

MessagePair::MessagePair(std::size_t ring_bytes, std::size_t message_bytes, int subscriber_cpu)
    : message_bytes_(message_bytes), ring_(ring_bytes, message_bytes),
      subscriber_([&](int answers) { subscribe(subscriber_cpu, answers); }) {
    // waits for touch(), which writes back the bytes that it has read: a message published
    // meanwhile would lose a byte
    for (char ready = 0; read(subscriber_.answers(), &ready, 1) < 0;) throw_if_interrupted();
}

void MessagePair::subscribe(int cpu, int answers) {
    pin_this_thread(cpu); // the publisher is pinned already
    ring_.touch();
    if (write(answers, "", 1) != 1) return;
    for (;;) {
        const std::uint64_t number = ring_.next();
        MessageHeader& header = ring_.header(number);
        header.seen = ticks();
        const UserBuffer user(header.bytes);
        header.take(user.get(), ring_.payload(number), header.bytes, 0);
        header.copied = ticks();
        header.right = read_copy(user.get(), header.bytes) == header.sum;
        header.read = ticks();
        if (header.check_all) {
            header.right &= Sequence{header.first}.is_at(user.get(), 0, header.bytes);
        }
        ring_.release();
    }
}

MessageTimes MessagePair::run(const Copier& copier, unsigned settling, unsigned timed) {
    const UserBuffer user(message_bytes_);
    bool right = true;
    std::vector<double> publish, take, read, total;
    for (unsigned i = 0; i < settling + timed; ++i) {
        const Sequence data{random_()};
        data.write(user.get(), message_bytes_);
        const std::uint64_t number = ring_.to_publish();
        MessageHeader& header = ring_.header(number);
        header = {.first = data.first,
                  .sum = data.sum(0, message_bytes_),
                  .bytes = message_bytes_,
                  .take = copier.take,
                  .check_all = i < settling,
                  .seen = 0,
                  .copied = 0,
                  .read = 0,
                  .right = false};
        const std::uint64_t begin = ticks();
        copier.publish(ring_.payload(number), user.get(), message_bytes_, 0);
        const std::uint64_t published = ticks();
        ring_.publish([&] { require_subscriber(copier.name); });
        right &= header.right;
        if (header.check_all) continue;
        publish.push_back(seconds_between(begin, published));
        take.push_back(seconds_between(header.seen, header.copied));
        read.push_back(seconds_between(header.copied, header.read));
        total.push_back(seconds_between(begin, header.read));
    }
    if (!right) {
        throw Failure("a message arrived changed: " + copier.name +
                      " copies wrongly; do not use this routine");
    }
    return {median(publish), median(take), median(read), median(total)};
}

void MessagePair::require_subscriber(const std::string& copier) {
    throw_if_interrupted();
    pollfd end{subscriber_.answers(), 0, 0};
    if (poll(&end, 1, 0) <= 0) return;
    const int status = subscriber_.wait();
    const std::string how = WIFSIGNALED(status)
                                ? "was ended by signal " + std::to_string(WTERMSIG(status)) + " (" +
                                      strsignal(WTERMSIG(status)) + ')'
                                : "ended with exit code " + std::to_string(WEXITSTATUS(status));
    throw Failure("the subscriber " + how + " in a turn of " + copier);
}

} // namespace asterope
