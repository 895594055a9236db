"""Libraries of models: families of learners with many settings, trained and recorded."""
