"""What tests share: small experiments, processes, oracles, hostile inputs."""
