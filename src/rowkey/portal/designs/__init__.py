"""Design files in the portal: their texts, checks, drafts, simulations and advice."""
