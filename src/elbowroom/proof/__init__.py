"""Proofs that travel: model files, proof files, and how they are written. The checker of both is `elbowroom_checker`."""
