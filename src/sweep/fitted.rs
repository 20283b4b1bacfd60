//! Policies fitted to one incident: the best of each scenario in all of them.

use super::objective::Goal;
use super::row::Figure;
use super::summary::{Point, Summary};
use super::text::{table, value_cell};
use crate::report::Grid;

impl Summary {
    /// How far what is best in one scenario is from the best in the others; `None` where there is one.
    pub(super) fn fitted(&self) -> Option<String> {
        Some(format!(
            "Fitted to one incident: {}, of what is best in each scenario\n{}\n",
            self.header.objectives.first()?.measure,
            self.fitted_cells()?.ruled()
        ))
    }

    /// For the first objective: the best variant of each scenario, the best by the score and the base,
    /// each in every scenario. `None` where there is one scenario.
    pub(super) fn fitted_cells(&self) -> Option<Grid> {
        let objective = self.header.objectives.first()?;
        let scenarios = &self.header.scenarios;
        if scenarios.len() < 2 {
            return None;
        }
        let dimension = self.header.figures[self.header.objective_columns()[0].0].dimension.into();
        let mut rows: Vec<(String, &Point)> = Vec::new();
        for (at, scenario) in scenarios.iter().enumerate() {
            let best = self.best(objective.goal, |point| point.in_scenarios[0][at])?;
            rows.push((format!("best in {}", scenario.name), best));
        }
        let score = self.header.score.name();
        rows.push((
            format!("best by {score}"),
            self.best(objective.goal, |point| point.scores[0])?,
        ));
        rows.extend(self.base().map(|base| ("base".to_owned(), base)));
        let mut names = vec!["variant".into()];
        names.extend(scenarios.iter().map(|scenario| scenario.name.clone()));
        names.push(score);
        let mut table = table(names);
        for (name, point) in rows {
            let mut cells = vec![name, format!("#{}", point.variant)];
            let figures = point.in_scenarios[0].iter().chain(&point.scores[..1]);
            cells.extend(figures.map(|figure| value_cell(*figure, dimension)));
            table.add_row(cells);
        }
        Some(table)
    }

    /// The variant that is best in this figure, of equals the first; `None` where none has it.
    fn best(&self, goal: Goal, figure: impl Fn(&Point) -> Figure) -> Option<&Point> {
        let measured = |point: &&Point| point.variant > 0 && figure(point).value().is_some();
        let mut variants = self.points.iter().filter(measured);
        let first = variants.next()?;
        Some(variants.fold(first, |best, point| {
            match goal.prefers(figure(point).value(), figure(best).value()) {
                true => point,
                false => best,
            }
        }))
    }
}
