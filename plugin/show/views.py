"""Register the views of all results that podium's public functions return.

Each module of a view registers it when it is imported. A command imports the views that it needs.
"""

import podium.show.report.audit_view
import podium.show.report.calibration_view
import podium.show.report.ranking_view  # noqa: F401
