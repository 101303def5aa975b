/** So long somebody may look without touching anything. */
const mostQuietMs = 5 * 60_000

let touchedAt = Date.now()
for (const sign of ['pointermove', 'pointerdown', 'keydown', 'focus'])
  addEventListener(sign, () => {
    touchedAt = Date.now()
  })

/** Whether somebody is at the page: what it asks by itself must not keep the session of who has left. */
export const isAttended = () => !document.hidden && Date.now() - touchedAt < mostQuietMs
