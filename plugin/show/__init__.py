"""What users see: answers in sentences, reports and their writers, pages and charts."""
