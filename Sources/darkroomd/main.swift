print("darkroomd")
