// The parts of Apache ECharts that the pictures use; build.sh makes echarts.min.js from them.
import { use } from 'echarts/core'
import { BoxplotChart, CustomChart, HeatmapChart, LineChart, ScatterChart } from 'echarts/charts'
import {
  DataZoomComponent, GridComponent, LegendPlainComponent, MarkAreaComponent, MarkLineComponent, TitleComponent,
  TooltipComponent, VisualMapContinuousComponent,
} from 'echarts/components'
import { SVGRenderer } from 'echarts/renderers'

use([
  BoxplotChart, CustomChart, DataZoomComponent, GridComponent, HeatmapChart, LegendPlainComponent, LineChart,
  MarkAreaComponent, MarkLineComponent, SVGRenderer, ScatterChart, TitleComponent, TooltipComponent, VisualMapContinuousComponent,
])

export { connect, getInstanceByDom, init } from 'echarts/core'
