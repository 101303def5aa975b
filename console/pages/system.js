import { formatDuration } from 'tillbridge/health'
import { Facts, formatSize, State, Timestamp } from '../components/format.js'
import { useHealth } from '../components/health.js'
import { Problem } from '../components/problem.js'
import { useLoad } from '../components/use-load.js'
import { callApi } from '../lib/api.js'
import { html } from '../lib/html.js'
import { rich, t } from '../lib/text.js'
import { formatTime } from '../lib/time.js'

/** @typedef {import('../components/format.js').Tone} Tone */

const dayMs = 86_400_000
/** The interval of backups that Tillbridge doesn't schedule: nightly. */
const defaultBackupIntervalHours = 24

/** A part of the installation with its state. @param {{ title: string, state: string, tone: Tone, facts: import('../components/format.js').Fact[], remedy?: unknown }} props */
const Part = ({ title, state, tone, facts, remedy }) => html`<section class="card" aria-label=${title}>
  <h2 class="small-title">${title}</h2>
  <p><${State} state=${state} tone=${tone} /></p>
  <${Facts} facts=${facts} />
  ${remedy && html`<p class="note">${remedy}</p>`}
</section>`

/** @param {{ jobs: any }} props */
function Workers({ jobs: { isIdle, oldestSeconds, running, due, later } }) {
  const isLate = oldestSeconds > 60
  const [state, tone] = isIdle
    ? /** @type {const} */ ([t('no worker is running'), 'bad'])
    : isLate
      ? /** @type {const} */ ([t('the queue is late'), 'warn'])
      : /** @type {const} */ (['running', 'good'])
  return html`<${Part}
    title="Workers and queue"
    state=${state}
    tone=${tone}
    facts=${[
      [t('Oldest due job'), oldestSeconds ? formatDuration(oldestSeconds) : t('none')],
      [t('Jobs of this service'), t('{running} running, {due} due, {later} scheduled', { running, due, later })],
    ]}
    remedy=${isIdle && rich('Emails wait and no sync runs. Start a process with <code>RUN_JOBS=true</code>, or run <code>tillbridge worker</code>.')}
  />`
}

/** @param {{ backup: any }} props */
function Backups({ backup: { lastAt, intervalHours } }) {
  const hours = lastAt === null ? Number.POSITIVE_INFINITY : (Date.now() - Date.parse(lastAt)) / 3_600_000
  const isLate = hours > 2 * (intervalHours ?? defaultBackupIntervalHours)
  return html`<${Part}
    title="Backups"
    state=${lastAt === null ? t('no backup') : isLate ? t('overdue') : t('up to date')}
    tone=${isLate ? 'bad' : 'good'}
    facts=${[
      [t('Last backup'), html`<${Timestamp} time=${lastAt} />`],
      [
        t('Schedule'),
        intervalHours === null ? t('not scheduled by Tillbridge') : t('every {intervalHours} h', { intervalHours }),
      ],
    ]}
    remedy=${isLate && html`${rich('Run <code>tillbridge backup</code> every night.')} <a href="docs/operate/backup-and-restore" target="_blank" rel="noopener">Back up and restore</a>`}
  />`
}

/** @param {{ expiresAt: string }} props */
function Certificate({ expiresAt }) {
  const days = Math.floor((Date.parse(expiresAt) - Date.now()) / dayMs)
  return html`<${Part}
    title="Certificate"
    state=${days < 0 ? t('expired') : t('expires in {duration}', { duration: formatDuration(86_400 * Math.max(days, 0)) })}
    tone=${days < 7 ? 'bad' : days < 30 ? 'warn' : 'good'}
    facts=${[[t('Valid until'), formatTime(expiresAt)]]}
    remedy=${days < 30 && t('Renew the certificate. Tillbridge loads the new files without a restart.')}
  />`
}

/** The installation: version, workers, queue, database, backups and certificate. */
export function Screen() {
  const { minute } = useHealth()
  const { data, error } = useLoad(
    signal => callApi('/console/system', { signal }).then(response => response.data),
    [minute],
  )
  return html`<h1>System</h1>
    <p class="lead">The installation that serves this service</p>
    ${error && html`<${Problem} error=${error} />`}
    ${!data && !error && html`<p class="opening" role="status">Loading…</p>`}
    ${
      data &&
      html`<div class="bar-lists">
      <${Workers} jobs=${data.jobs} />
      <${Part}
        title="Database"
        state=${data.database.isOutdated ? t('update available') : t('up to date')}
        tone=${data.database.isOutdated ? 'warn' : 'good'}
        facts=${[
          [t('PostgreSQL'), data.database.version],
          [t('Newest known'), data.database.isOutdated ? data.database.newest : null],
          [t('Size'), formatSize(data.database.bytes)],
        ]}
        remedy=${data.database.isOutdated && t('The newer release fixes bugs and security problems.')}
      />
      <${Backups} backup=${data.backup} />
      <${Certificate} expiresAt=${data.certificateExpiresAt} />
      <${Part}
        title="Release"
        state=${t('Tillbridge {version}', { version: data.version })}
        tone="good"
        facts=${[[t('Node.js'), data.node], [t('API'), html`<a href="docs" target="_blank" rel="noopener">Reference</a>`]]}
      />
    </div>
    <p class="note">${rich('To check more, such as the disk, clocks and the mail server, run <code>tillbridge doctor</code> on the server.')}</p>`
    }`
}
