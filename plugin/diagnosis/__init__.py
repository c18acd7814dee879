"""What a judge deserves: its biases, its agreement with people and with itself, and how far its verdicts add up."""
