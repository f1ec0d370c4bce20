"""The words of each language that Eidet reads facts in, apart from the rules that use them."""
