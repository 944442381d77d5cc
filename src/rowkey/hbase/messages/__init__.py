"""Parts of requests and answers that several requests share."""
