"""Register the views of podium's results, and the HTML writer for notebooks.

They are registered when this module is imported.
"""

from typing import Any

from podium.data.battles import Battles
from podium.diagnosis.audit_record import Audit
from podium.documents import View, register_html_writer, register_view
from podium.rankers.calibration.calibration import Calibration
from podium.rankers.ranking import Ranking
from podium.show.report.audit_view import audit_reports, audit_text
from podium.show.report.calibration_view import calibration_reports
from podium.show.report.html import html_part
from podium.show.report.ranking_view import battles_html, ranking_reports, ranking_text


def draw_battles(battles: Battles) -> Any:
    """Return the chart of the win rates of pairs; altair, an extra, is imported here."""
    from podium.show.pictures.charts import battles_plot

    return battles_plot(battles)


def draw_ranking(ranking: Ranking) -> Any:
    """Return the forest plot of a ranking; altair, an extra, is imported here."""
    from podium.show.pictures.charts import ranking_plot

    return ranking_plot(ranking)


def draw_calibration(calibration: Calibration) -> Any:
    """Return the charts of a calibration; altair, an extra, is imported here."""
    from podium.show.pictures.charts import calibration_plot

    return calibration_plot(calibration)


register_html_writer(html_part)
register_view(Battles, View(html=battles_html, chart=draw_battles))
register_view(Ranking, View(ranking_reports, ranking_text, chart=draw_ranking))
register_view(Audit, View(audit_reports, audit_text))
register_view(Calibration, View(calibration_reports, chart=draw_calibration))
