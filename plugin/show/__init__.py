"""What people see: answers in sentences, reports and their writers, pages and pictures."""
