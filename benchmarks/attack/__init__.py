"""The attack: bad input of every kind, and kills; what is not refused in a sentence is counted."""
