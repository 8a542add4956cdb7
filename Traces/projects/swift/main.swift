print(total(3), noted())
