"""The issuer: gives each invited person one blind token for each batch."""
