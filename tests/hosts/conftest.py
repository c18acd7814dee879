"""Here so that `stand_in`, the server beside it, can be imported by the tests of every host."""
