"""What people see: the answer in sentences, reports and their writers, pages and pictures of every result."""
