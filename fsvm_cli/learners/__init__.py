"""What a config's classifier trains: machines, tuned or learned, and classifiers of scikit-learn."""
