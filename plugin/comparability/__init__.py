"""Are rows of different runs about the same thing: the same questions, asked the same way?"""
