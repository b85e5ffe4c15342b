"""The book and each chapter as a PDF, printed by Chromium from the built pages."""
