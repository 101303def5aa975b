import { t } from './lib/text.js'

/** The screens of the lists. @param {[path: string, title: string, role?: string][]} lists */
const listPages = lists =>
  lists.map(([path, title, role = 'visitor']) => ({
    path,
    group: t('Records'),
    title,
    role,
    load: () => import('./pages/lists.js').then(({ createScreen }) => createScreen(path)),
  }))

/** The screens in the order of the navigation. `path`: the first part of the route; `group`: the heading above it; `role`: the role that their API calls need; `needsServices`: only for accounts with several services. */
export const pages = [
  { path: 'overview', group: '', title: t('Overview'), role: 'visitor', load: () => import('./pages/overview.js') },
  {
    path: 'services',
    group: '',
    title: t('All services'),
    role: 'visitor',
    needsServices: true,
    load: () => import('./pages/services.js'),
  },
  { path: 'search', group: '', title: t('Search'), role: 'visitor', load: () => import('./pages/search.js') },
  ...listPages([
    ['orders', t('Orders')],
    ['sales', t('Sales')],
    ['returns', t('Returns')],
    ['customers', t('Customers')],
    ['products', t('Products')],
    ['stock', t('Stock')],
    ['vouchers', t('Gift vouchers'), 'admin'],
    ['stores', t('Stores')],
    ['staff', t('Staff')],
  ]),
  { path: 'syncs', group: t('Data'), title: t('Syncs'), role: 'visitor', load: () => import('./pages/syncs.js') },
  {
    path: 'back-office',
    group: t('Data'),
    title: t('Back office'),
    role: 'visitor',
    load: () => import('./pages/back-office.js'),
  },
  { path: 'import', group: t('Data'), title: t('Import'), role: 'maintainer', load: () => import('./pages/import.js') },
  {
    path: 'mappings',
    group: t('Data'),
    title: t('Mappings'),
    role: 'admin',
    load: () => import('./pages/mappings.js'),
  },
  {
    path: 'ecommerce',
    group: t('Data'),
    title: t('E-commerce'),
    role: 'admin',
    load: () => import('./pages/ecommerce.js'),
  },
  {
    path: 'requests',
    group: t('Developers'),
    title: t('Request log'),
    role: 'admin',
    load: () => import('./pages/requests.js'),
  },
  {
    path: 'webhooks',
    group: t('Developers'),
    title: t('Webhooks'),
    role: 'admin',
    load: () => import('./pages/webhooks.js'),
  },
  {
    path: 'second-factor',
    group: t('Admin'),
    title: t('Second factor'),
    role: 'visitor',
    load: () => import('./pages/second-factor.js'),
  },
  { path: 'accounts', group: t('Admin'), title: t('Team'), role: 'admin', load: () => import('./pages/accounts.js') },
  {
    path: 'api-keys',
    group: t('Admin'),
    title: t('API keys'),
    role: 'admin',
    load: () => import('./pages/api-keys.js'),
  },
  {
    path: 'settings',
    group: t('Admin'),
    title: t('Settings'),
    role: 'admin',
    load: () => import('./pages/settings.js'),
  },
  { path: 'audit', group: t('Admin'), title: t('Audit log'), role: 'admin', load: () => import('./pages/audit.js') },
  { path: 'system', group: t('Admin'), title: t('System'), role: 'admin', load: () => import('./pages/system.js') },
]
