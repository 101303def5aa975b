import { State } from '../../components/format.js'
import { Guide } from '../../components/guide.js'
import { html } from '../../lib/html.js'
import { useHasRole } from '../../lib/role.js'
import { linkTo, useRouteService } from '../../lib/route.js'
import { rich, t } from '../../lib/text.js'

/** The choices of a service without another back office: keep its records here, or connect Apparel21. */
export function Unconnected() {
  const isMaintainer = useHasRole('maintainer')
  const service = useRouteService() ?? ''
  return html`<div class="card">
      <p><${State} state=${t('Embedded: Tillbridge keeps the records of this service')} tone="good" /></p>
    </div>
    <div class="guides">
      <${Guide}
        title="Connect Apparel21"
        page="connect/apparel21"
        lead=${t('The connection is set on the server, because only its operator can choose the systems that Tillbridge calls.')}
        steps=${[
          {
            text: t('Set the address and the user. The command asks for the password.'),
            command: `tillbridge back-office set ${service} url=https://retail.example/RetailAPI/ country=AU user=retail`,
          },
          { text: t('Test the connection.'), command: `tillbridge back-office test ${service}` },
          { text: t('Reload this page. It then shows calls, credentials and schedules.') },
        ]}
      />
      <${Guide}
        title="Keep the records in Tillbridge"
        page="connect/import-files"
        lead=${t('Stores, products, stock, customers and sales come from CSV or NDJSON files. Orders, returns and gift vouchers are created with the API.')}
        steps=${[
          {
            text: isMaintainer
              ? rich('<link>Import a file</link> here, and again whenever it changes.', {
                  link: content => html`<a href=${linkTo('import')}>${content}</a>`,
                })
              : t('Ask a maintainer to import a file.'),
          },
          {
            text: t('To import regularly, send the files from a script.'),
            command: `tillbridge import stock stock.csv --service ${service}`,
          },
        ]}
      />
    </div>`
}
