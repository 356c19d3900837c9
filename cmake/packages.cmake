set(CPACK_GENERATOR DEB) # stays until the next step
