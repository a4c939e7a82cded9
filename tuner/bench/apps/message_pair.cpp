// Two processes that pass messages through shared memory, with one pair of copy functions or
// another.
#include "bench/apps/message_pair.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/random.hpp"
#include "base/statistics.hpp"
#include "bench/apps/sequence.hpp"
#include "bench/apps/user_buffer.hpp"
#include "machine/affinity.hpp"
#include "timing/buffer_access.hpp"
#include "timing/clock.hpp"

namespace asterope {

namespace {

/// Whether all of it came: less than a pipe's buffer comes as a whole or not at all.
bool read_all(int from, void* data, std::size_t bytes) {
    ssize_t got;
    do {
        got = read(from, data, bytes);
    } while (got < 0 && errno == EINTR);
    return got == static_cast<ssize_t>(bytes);
}

bool write_all(int to, const void* data, std::size_t bytes) {
    ssize_t put;
    do {
        put = write(to, data, bytes);
    } while (put < 0 && errno == EINTR);
    return put == static_cast<ssize_t>(bytes);
}

} // namespace

MessagePair::MessagePair(std::vector<Copier> copiers, std::size_t ring_bytes,
                         std::size_t message_bytes, int publisher_cpu, int subscriber_cpu,
                         int patience_ms)
    : copiers_(std::move(copiers)), message_bytes_(message_bytes), ring_(ring_bytes, message_bytes),
      patience_ms_(patience_ms) {
    // a child that is gone is found at the end of its pipe, not by the signal of writing to it
    std::signal(SIGPIPE, SIG_IGN);
    subscriber_.emplace([&](int answers) {
        set_up_child(subscriber_cpu, answers);
        subscribe();
    });
    Pipe orders;
    orders_ = std::move(orders.writing);
    publisher_.emplace([&](int answers) {
        orders_ = Descriptor(); // its own copy of the end that this process writes to
        set_up_child(publisher_cpu, answers);
        publish(orders.reading.get(), answers);
    });
    char ready;
    wait_for_answer(*subscriber_, &ready, sizeof ready);
    wait_for_answer(*publisher_, &ready, sizeof ready);
}

/// Before a child's first message: what is slow once only.
void MessagePair::set_up_child(int cpu, int answers) {
    // A copy that starts threads does so at its first call, and they stay on the CPUs that their
    // starter had then.
    std::vector<char> from(message_bytes_), to(message_bytes_);
    for (const Copier& copier : copiers_) copier.publish(to.data(), from.data(), to.size(), 0);
    pin_to_cpu(cpu);
    ring_.touch();
    constexpr char ready = 1;
    write_all(answers, &ready, sizeof ready);
}

void MessagePair::subscribe() {
    for (;;) {
        const std::uint64_t number = ring_.next();
        MessageHeader& header = ring_.header(number);
        const Copier& copier = copiers_[static_cast<std::size_t>(header.copier)];
        header.seen = ticks();
        auto* const user = static_cast<char*>(allocate_buffer(header.bytes));
        if (!user) throw Failure("no memory for a message");
        copier.take(user, ring_.payload(number), header.bytes, 0);
        header.copied = ticks();
        header.right = read_copy(user, header.bytes) == header.sum;
        header.read = ticks();
        if (header.check_all) {
            header.right &= Sequence{header.first}.is_at(user, 0, header.bytes);
        }
        free_buffer(user);
        ring_.release();
    }
}

void MessagePair::publish(int orders, int answers) {
    Order order;
    while (read_all(orders, &order, sizeof order)) {
        const Copier& copier = copiers_[order.copier];
        void* const user = allocate_buffer(message_bytes_);
        if (!user) throw Failure("no memory for a message");
        const Answer answer = pass(order, copier, user);
        free_buffer(user);
        if (!write_all(answers, &answer, sizeof answer)) return;
    }
}

MessagePair::Answer MessagePair::pass(const Order& order, const Copier& copier, void* user) {
    Answer answer{{}, true};
    RandomStream random{order.turn};
    std::vector<double> publish, take, read, total;
    for (unsigned i = 0; i < order.settling + order.timed; ++i) {
        const Sequence data{random()};
        data.write(user, message_bytes_);
        const std::uint64_t number = ring_.claim();
        MessageHeader& header = ring_.header(number);
        const bool timed = i >= order.settling;
        header = {.first = data.first,
                  .sum = data.sum(0, message_bytes_),
                  .bytes = message_bytes_,
                  .copier = static_cast<int>(order.copier),
                  .check_all = !timed,
                  .seen = 0,
                  .copied = 0,
                  .read = 0,
                  .right = false};
        const std::uint64_t begin = ticks();
        copier.publish(ring_.payload(number), user, message_bytes_, 0);
        const std::uint64_t published = ticks();
        ring_.publish();
        ring_.wait_until_taken();
        answer.right &= header.right;
        if (!timed) continue;
        publish.push_back(seconds_between(begin, published));
        take.push_back(seconds_between(header.seen, header.copied));
        read.push_back(seconds_between(header.copied, header.read));
        total.push_back(seconds_between(begin, header.read));
    }
    answer.times = {median(publish), median(take), median(read), median(total)};
    return answer;
}

MessageTimes MessagePair::run(const std::string& name, unsigned settling, unsigned timed) {
    const auto found = std::ranges::find(copiers_, name, &Copier::name);
    const auto copier = static_cast<std::size_t>(found - copiers_.begin());
    doing_ = "in a turn of " + name;
    const Order order{copier, settling, timed, turns_++};
    if (!write_all(orders_.get(), &order, sizeof order)) fail_for(*publisher_);
    Answer answer;
    wait_for_answer(*publisher_, &answer, sizeof answer);
    if (!answer.right) {
        throw Failure("a message arrived changed: " + name +
                      " copies wrongly; do not use this routine");
    }
    return answer.times;
}

void MessagePair::wait_for_answer(ChildProcess& process, void* answer, std::size_t bytes) {
    for (;;) {
        throw_if_interrupted();
        pollfd ends[] = {{process.answers(), POLLIN, 0}, {subscriber_->answers(), 0, 0}};
        const int ready = poll(ends, 2, patience_ms_);
        if (ready < 0 && errno == EINTR) continue;
        if (ready == 0) {
            throw Failure("publisher and subscriber have not answered for " +
                          std::to_string(patience_ms_ / 1000) + " s " + doing_);
        }
        if (ends[0].revents & POLLIN) {
            if (read_all(process.answers(), answer, bytes)) return;
            fail_for(process);
        }
        fail_for(ends[0].revents ? process : *subscriber_);
    }
}

void MessagePair::fail_for(ChildProcess& process) {
    const int status = process.wait();
    const std::string role = &process == &*subscriber_ ? "subscriber" : "publisher";
    const std::string how = WIFSIGNALED(status)
                                ? "was ended by signal " + std::to_string(WTERMSIG(status)) + " (" +
                                      strsignal(WTERMSIG(status)) + ')'
                                : "ended with exit code " + std::to_string(WEXITSTATUS(status));
    throw Failure("the " + role + ' ' + how + ' ' + doing_);
}

} // namespace asterope
