"""The views of battles, rankings and calibrations, and the writer of HTML for notebooks: importing
this module registers them."""

from podium.data.battles import Battles
from podium.documents import View, register_html_writer, register_view
from podium.rankers.calibration.calibration import Calibration
from podium.rankers.ranking import Ranking
from podium.show.pictures.charts import battles_plot, calibration_plot, ranking_plot
from podium.show.report.calibration_view import calibration_reports
from podium.show.report.html import html_part
from podium.show.report.ranking_view import battles_html, ranking_reports, ranking_text

register_html_writer(html_part)
register_view(Battles, View(html=battles_html, chart=battles_plot))
register_view(Ranking, View(ranking_reports, ranking_text, chart=ranking_plot))
register_view(Calibration, View(calibration_reports, chart=calibration_plot))
