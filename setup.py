"""What pyproject.toml cannot say: an editable installation brings the data files too."""

from setuptools import Distribution, setup


class WithData(Distribution):
    """Answers what setuptools asks before it installs data files in an editable installation.

    It asks for has_data (setuptools 77 to 84 at least); what a Distribution has is has_data_files.
    """

    def has_data(self) -> bool:
        return bool(self.has_data_files())


setup(distclass=WithData)
