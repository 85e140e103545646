// The parts of Apache ECharts that the pictures use; build.sh makes echarts.min.js from them.
import { use } from 'echarts/core'
import { LineChart } from 'echarts/charts'
import {
  DataZoomComponent, GridComponent, LegendPlainComponent, MarkAreaComponent, MarkLineComponent, TitleComponent, TooltipComponent,
} from 'echarts/components'
import { SVGRenderer } from 'echarts/renderers'

use([
  DataZoomComponent, GridComponent, LegendPlainComponent, LineChart, MarkAreaComponent, MarkLineComponent,
  SVGRenderer, TitleComponent, TooltipComponent,
])

export { connect, getInstanceByDom, init } from 'echarts/core'
