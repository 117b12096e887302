"""Protocols of the central model: the analyser holds every answer and adds the noise."""
