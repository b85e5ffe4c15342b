"""What pyproject.toml cannot say: catalogues are compiled, and an editable installation brings the
data files too."""

from datetime import UTC, datetime
from pathlib import Path

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from setuptools import Distribution, setup
from setuptools.command.build_py import build_py


class WithCatalogues(build_py):
    """Compiles the catalogues into a wheel, which then needs no Babel to read them."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:  # a checkout reads them as they are
            return
        for source in Path("src").glob("qkv/locale/*/LC_MESSAGES/qkv.po"):
            target = Path(self.build_lib, source.relative_to("src")).with_suffix(".mo")
            target.parent.mkdir(parents=True, exist_ok=True)
            with source.open("rb") as text, target.open("wb") as compiled:
                catalogue = read_po(text, locale=source.parts[-3])
                # Babel writes the minute of now, and a wheel is the same whenever it is made.
                catalogue.creation_date = catalogue.revision_date = datetime(1970, 1, 1, tzinfo=UTC)
                write_mo(compiled, catalogue)


class WithData(Distribution):
    """Answers what setuptools asks before it installs data files in an editable installation.

    It asks for has_data (setuptools 77 to 84 at least); what a Distribution has is has_data_files.
    """

    def has_data(self) -> bool:
        return bool(self.has_data_files())


setup(distclass=WithData, cmdclass={"build_py": WithCatalogues})
