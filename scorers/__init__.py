"""Write the prompts of judges and read verdicts from their replies, without any input or output."""
