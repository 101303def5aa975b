import { useEffect, useRef, useState } from 'preact/hooks'
import { Button } from './components/button.js'
import { GlobalSearch } from './components/global-search.js'
import { countProblems, HealthContext, useLoadedHealth } from './components/health.js'
import { Problem } from './components/problem.js'
import { Toasts } from './components/toast.js'
import { useAction, useLoad } from './components/use-load.js'
import { connect } from './lib/api.js'
import { html } from './lib/html.js'
import { recordLists } from './lib/record-lists.js'
import { includesRole, PagesContext, RoleContext, ServicesContext, UsernameContext } from './lib/role.js'
import { linkTo, linkToService, useRoute } from './lib/route.js'
import { plural, t } from './lib/text.js'
import { pages } from './pages.js'

/**
 * The frame around a screen: service, navigation and account.
 * @param {{ signedIn: import('./lib/role.js').SignedIn, service: import('./lib/role.js').SignedIn['services'][number], signOut: () => Promise<void> }} props
 */
export function Frame({ signedIn, service, signOut }) {
  const [path = '', ...parts] = useRoute()
  const allowed = pages.filter(
    ({ role, needsServices }) => includesRole(service.role, role) && !(needsServices && signedIn.services.length === 1),
  )
  const requested = path ? pages.find(page => page.path === path) : allowed[0]
  const current = allowed.find(page => page === requested)
  const record = parts.join(' ')
  /** The list of the shown record belongs to it in the navigation. */
  const section = (current?.path === 'search' && parts[1] && recordLists[parts[0] ?? '']) || current?.path
  const loadedHealth = useLoadedHealth(current?.path)
  const [isMenuOpen, setMenuOpen] = useState(false)
  const content = useRef(/** @type {HTMLElement | null} */ (null))
  const previousPath = useRef(/** @type {string | undefined} */ (undefined))
  const { busy, error, run } = useAction()
  useEffect(() => {
    document.title = [record, current?.title, service.name, 'Tillbridge'].filter(Boolean).join(' · ')
    setMenuOpen(false)
    const isFirst = previousPath.current === undefined
    const isNewPage = previousPath.current !== path
    previousPath.current = path
    // Moves the focus, so that screen readers announce the new screen. A followed link may have disappeared with its list.
    if (!isFirst && (isNewPage || document.activeElement === document.body))
      content.current?.focus({ preventScroll: true })
    if (isNewPage) scrollTo(0, 0)
  }, [path, record])

  return html`<${ServicesContext.Provider} value=${signedIn.services}><${RoleContext.Provider} value=${service.role}><${UsernameContext.Provider} value=${signedIn.username}><${PagesContext.Provider} value=${allowed}><${HealthContext.Provider} value=${loadedHealth}>
    <a class="skip" href="#content" onClick=${(/** @type {Event} */ event) => {
      event.preventDefault()
      content.current?.focus()
    }}>Skip to content</a>
    <header class="bar">
      <a class="brand" href=${linkTo()}><img src="docs/icon.svg" alt="" /> Tillbridge</a>
      <${Services} services=${signedIn.services} service=${service} path=${current?.path ?? ''} />
      <${GlobalSearch} pages=${allowed} />
      <a class="help" href="docs" target="_blank" rel="noopener">Docs</a>
      <span class="who">${signedIn.username} <small>${service.role}</small></span>
      <${Button} class="quiet" label="Sign out" busyLabel="Sign out" busy=${busy} onClick=${() => run(signOut)} />
    </header>
    <nav aria-label="Screens" class=${isMenuOpen ? 'open' : undefined}>
      <button class="menu" aria-expanded=${String(isMenuOpen)} aria-controls="screens" onClick=${() => setMenuOpen(!isMenuOpen)}>${t('Menu')}${current && html` <small>${current.title}</small>`}</button>
      <ul id="screens">
        ${allowed.map(
          (page, i) =>
            html`${page.group !== allowed[i - 1]?.group && html`<li class="group" key=${page.group}>${page.group}</li>`}<li key=${page.path}><a href=${linkTo(page.path)} aria-current=${page.path === section ? 'page' : undefined}>${page.title}<${Badge} ...${countProblems(loadedHealth.health, page.path)} /></a></li>`,
        )}
      </ul>
    </nav>
    <main id="content" tabindex="-1" ref=${content}>
      ${error && html`<${Problem} error=${error} />`}
      ${current ? html`<${LoadedScreen} key=${current.path} load=${current.load} parts=${parts} />` : html`<${MissingScreen} page=${requested} service=${service} />`}
    </main>
    <${Toasts} />
  <//><//><//><//><//>`
}

/** The number of problems of a screen. @param {{ count: number, isCritical: boolean }} props */
const Badge = ({ count, isCritical }) =>
  count > 0 &&
  html` <span class=${`badge ${isCritical ? 'critical' : 'degraded'}`} title=${plural(count, '{count} problem', '{count} problems')}>${count}</span>`

/** The reason why an address has no screen. @param {{ page: typeof pages[number] | undefined, service: { name: string, role: string } }} props `page`: it exists, but not for the role */
const MissingScreen = ({
  page,
  service: { name, role },
}) => html`<h1>${page ? t('No access to {screen}', { screen: page.title }) : t('Screen not found')}</h1>
  <div class="empty">
    <p>${
      page && !includesRole(role, page.role)
        ? t('This screen needs the role {required}. Your role in {name} is {role}. Ask an admin for access.', {
            required: page.role,
            name,
            role,
          })
        : t('The address has no screen of this service. Check its spelling.')
    }</p>
    <p><a class="button" href=${linkTo()}>Open the overview</a></p>
  </div>`

/** The default of the setting `retailerName`, which says nothing about the service. */
const defaultRetailer = 'Tillbridge'

/** @param {{ name: string, retailerName: string }} service */
const formatService = ({ name, retailerName }) =>
  [name, defaultRetailer].includes(retailerName) ? name : `${retailerName} (${name})`

/** The service, or a choice of services, which opens the same screen. @param {{ services: import('./lib/role.js').SignedIn['services'], service: import('./lib/role.js').SignedIn['services'][number], path: string }} props */
function Services({ services, service, path }) {
  if (services.length === 1) return html`<span class="service">${formatService(service)}</span>`
  return html`<select
    class="service"
    aria-label="Service"
    value=${service.name}
    onChange=${(/** @type {{ currentTarget: HTMLSelectElement }} */ { currentTarget }) => {
      location.hash = linkToService(currentTarget.value, path)
    }}
  >
    ${services.map(option => html`<option key=${option.name} value=${option.name}>${formatService(option)}</option>`)}
  </select>`
}

/** A screen whose module is loaded when it is first opened. @param {{ load: () => Promise<any>, parts: string[] }} props */
function LoadedScreen({ load, parts }) {
  const { data, error } = useLoad(() => connect(load()), [])
  if (error) return html`<${Problem} error=${error} />`
  return data ? html`<${data.Screen} parts=${parts} />` : html`<p class="opening" role="status">Loading…</p>`
}
