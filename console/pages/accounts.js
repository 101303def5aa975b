import { html } from '../lib/html.js'
import { linkTo } from '../lib/route.js'
import { Accounts } from './accounts/list.js'

/** The people with access to the service. */
export const Screen = () => html`<h1>Team</h1>
  <p class="lead">People with access to this service, and their roles. Passwords are shown once. Programs are under <a href=${linkTo('api-keys')}>API keys</a>.</p>
  <${Accounts} isProgram=${false} />`
