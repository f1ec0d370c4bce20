-- KEYS[1]: says where; ARGV: key and field or score of each place.
return look(1, #ARGV, 2)
