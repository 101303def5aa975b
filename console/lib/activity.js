/** So long somebody may look without touching anything. */
const maxIdleMs = 5 * 60_000

let lastActiveAt = Date.now()
for (const sign of ['pointermove', 'pointerdown', 'keydown', 'focus'])
  addEventListener(sign, () => {
    lastActiveAt = Date.now()
  })

/** Whether somebody is at the page: what it asks by itself must not keep the session of who has left. */
export const isUserActive = () => !document.hidden && Date.now() - lastActiveAt < maxIdleMs
