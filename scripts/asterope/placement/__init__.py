"""The command asterope-placement: does it matter where buffers are, and which -O compiled?"""
