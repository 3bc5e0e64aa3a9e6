"""The command line: words to settings, outcomes to text and exit codes; nothing else.

One module for each command. Everything but typer is imported by the command that needs it, so that
`--help` answers at once.
"""

from __future__ import annotations

from . import batch as batch
from . import cache as cache
from . import check as check
from . import doctor as doctor
from . import explain as explain
from . import fix as fix
from . import init as init
from . import map as map
from . import modernize as modernize
from . import prove as prove
from . import rules as rules
from . import server as server
from .errors import CLEAN as CLEAN
from .errors import FAILED as FAILED
from .errors import FOUND as FOUND
from .errors import INTERRUPTED as INTERRUPTED
from .root import app as app
from .root import main as main
