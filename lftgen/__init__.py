"""lftgen: exact LFT/LPV models of multibody mechanisms around parameter-dependent equilibria."""
