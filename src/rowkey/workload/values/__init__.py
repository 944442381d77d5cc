"""The values of a sample: as their fields declare, why one is not, and what times may mean."""
