"""elbowroom: regions of counterfactual explanations, proven closest and proven valid at every point."""
