/* global uPlot */

/** Draws one chart after the other into the places that wait for them: times in seconds, and of each chart its lines and the figures of its axis. */
// biome-ignore lint/correctness/noUnusedVariables: the page calls it
function draw(times, charts) {
  const ink = getComputedStyle(document.body)
  const axis = {
    stroke: ink.getPropertyValue('--muted'),
    font: `${ink.fontSize} ${ink.fontFamily}`,
    grid: { stroke: ink.getPropertyValue('--line'), width: 1 },
    ticks: { show: false },
  }
  document.querySelectorAll('.chart').forEach((place, i) => {
    const { lines, ticks, labels } = charts[i]
    new uPlot(
      {
        width: place.clientWidth,
        height: place.clientHeight,
        padding: [10, 20, 0, 0],
        legend: { show: false },
        cursor: { show: false },
        series: [{}, ...lines.map(({ colour }) => ({ stroke: colour, width: 1.5, points: { show: false } }))],
        scales: { y: { range: [0, ticks.at(-1) * 1.03] } },
        axes: [
          {
            ...axis,
            size: 28,
            space: 60,
            values: (_, at) => at.map(time => new Date(time * 1000).toISOString().slice(11, 16)),
            incrs: [60, 120],
          },
          { ...axis, size: 76, splits: () => ticks, values: () => labels },
        ],
      },
      [times, ...lines.map(({ values }) => values)],
      place,
    )
  })
  document.body.dataset.drawn = 'yes'
}
