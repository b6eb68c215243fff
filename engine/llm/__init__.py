"""The model seam: one small protocol, and what stands behind it."""
