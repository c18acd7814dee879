"""What a judge deserves: its biases, its agreement with humans and with itself, and how far its
verdicts add up."""
